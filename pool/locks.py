"""Advisory lock keys: one file, so that no two meanings share a number."""

ROUND = 7001
WATCH = 7002
METER = 7003
AUDIT = 7004
HOUSEKEEP = 7005
FIRST_RUN = 7006
EXPIRE = 7007
NOTICES = 7008
DEPENDENCIES = 7020
POLICIES = 7011
