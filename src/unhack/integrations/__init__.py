"""unhack inside other people's trainers: one thin file each, none imported unless asked for."""
