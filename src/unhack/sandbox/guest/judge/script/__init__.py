"""What the script hands to the solution and keeps: functions, classes and objects of its own."""
