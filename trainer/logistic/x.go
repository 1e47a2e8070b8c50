package logistic
