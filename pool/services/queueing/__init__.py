"""The queue as a thing of its own: its rounds, who is raised or held, a change that is applied."""
