"""A part of the desk in a folder below it."""


def lock(drawer):
    return drawer.lock()
