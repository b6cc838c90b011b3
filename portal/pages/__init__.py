"""Server-rendered pages and their fragments."""
