-- The pins of a map game: 101,447 rows, the same on every machine, made by arithmetic instead of a random generator.
-- One town is crowded: a square of 1,000 x 1,000 around (10500, 10500) holds exactly 4,649 pins, whose rows in JSON are
-- 146 bytes each. Everybody else is scattered over the land from (12000, 12000) on. West of x = 10000 there is nothing,
-- so a player there gets the empty answer.
CREATE TABLE pins (
    id         uuid    PRIMARY KEY,
    title      text    NOT NULL,
    created_at bigint  NOT NULL,   -- milliseconds since 1970: does not fit an int32, which is why it is here
    x          integer NOT NULL,
    y          integer NOT NULL
);

WITH words AS (
    SELECT ARRAY['quiet', 'sunny', 'rainy', 'windy', 'dusty', 'empty', 'noisy'] AS kinds,
           ARRAY['bakery', 'garden', 'bridge', 'museum', 'square'] AS places,
           ARRAY['north', 'south', 'river'] AS sides
)
INSERT INTO pins
SELECT md5('pin ' || n)::uuid,
       -- 43 characters, whichever words: every list has words of one length.
       'A ' || kinds[1 + n % 7] || ' ' || places[1 + n % 5] || ' on the ' || sides[1 + n % 3] || ' side no. '
           || lpad(n::text, 6, '0'),
       1500000000000 + n * 86400000::bigint / 512,
       -- The steps share no factor with the widths, so they visit every place before they come to one again.
       CASE WHEN n <= 4649 THEN 10000 + (n * 7919::bigint % 1001) ELSE 12000 + (n * 7919::bigint % 87001) END,
       CASE WHEN n <= 4649 THEN 10000 + (n * 6007::bigint % 997) ELSE 12000 + (n * 60070::bigint % 86969) END
FROM words, generate_series(1, 101447) AS n;

CREATE INDEX pins_by_place ON pins (x, y);
VACUUM ANALYZE pins;
