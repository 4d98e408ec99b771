-- At each start: experiments begin with an empty table, and the examples of the contract with one taken address.
TRUNCATE users RESTART IDENTITY;
INSERT INTO users (email, full_name, password) VALUES ('taken@example.com', 'Already Here', 'not a hash');
