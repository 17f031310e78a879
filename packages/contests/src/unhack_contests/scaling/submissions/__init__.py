"""Programs that predict: the honest strategies, as files that a submission consists of."""
