"""Scripts behind `make licences` and `make wheel`."""
