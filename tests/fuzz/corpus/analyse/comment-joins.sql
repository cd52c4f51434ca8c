DO 'x ' -- c
 /* d */ 'y'; SELECT 'a' -- b
 'c'