"""The judge's zone: code that holds answers and looks at claims."""
