"""Problems for a GPU: one file each, on three levels."""
