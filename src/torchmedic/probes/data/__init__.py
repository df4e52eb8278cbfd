"""The exam of the data as it comes: files, tables, data sets, loaders and splits."""
