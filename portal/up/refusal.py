"""What `up` cannot do here, said in one line."""


class Refused(Exception):
    """The stack cannot start (or go on) on this machine as asked; the text is the whole message.

    It is written for the person at the terminal: what is wrong, and what to do about it.
    """
