"""The contest `scaling` with `service=trained`: runs that are trained while a submission asks."""
