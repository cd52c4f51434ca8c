DO E'a' -- c
 'b\' -- '