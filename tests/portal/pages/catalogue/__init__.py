"""The pages of the catalogues."""
