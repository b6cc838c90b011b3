"""Pages of places and people: organizations, projects, members, invitations, leavers."""
