"""Files from elsewhere: packages and data sets at pinned revisions, checked by digest, kept in one cache."""
