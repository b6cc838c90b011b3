"""manage.py up: the whole real stack under one supervisor."""
