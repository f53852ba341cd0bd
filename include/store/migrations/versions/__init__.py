"""One module a revision, in SQL; a released one is never edited."""
