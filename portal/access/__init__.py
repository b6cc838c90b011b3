"""One answer to: may I?"""
