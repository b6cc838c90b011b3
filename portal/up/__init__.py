"""`manage.py up`: the whole real stack on one machine, started, watched and stopped in order."""
