// POST /api/users {email, full_name, password}: hash, insert, 201 without a body. There is no limit on how many
// requests wait for a hash or for a connection to the database: under too many arrivals the queue grows until the
// clients leave.
import bcrypt from "bcrypt";
import { Gauge } from "prom-client";
import { pool } from "../../lib/database";
import { cost, hashing } from "../../lib/settings";

const INSERT = {
  name: "insert-user",
  text: "INSERT INTO users (email, full_name, password) VALUES ($1, $2, $3)",
};

const hashes = new Gauge({
  name: "registration_hashes_in_flight",
  help: "Passwords that are being hashed or wait for a thread of the libuv pool.",
});

async function hashed(password) {
  hashes.inc();
  try {
    return await bcrypt.hash(password, cost);
  } finally {
    hashes.dec();
  }
}

export default async function users(request, response) {
  if (request.method !== "POST") {
    response.setHeader("Allow", "POST");
    response.status(405).end();
    return;
  }
  const { email, full_name, password } = request.body ?? {};
  try {
    // Without hashing the text itself is stored: the switch takes out the work and nothing else.
    await pool.query(INSERT, [email, full_name, hashing ? await hashed(password) : password]);
    response.status(201).end();
  } catch (error) {
    response.status(500).json({ error: error.message, code: error.code ?? null });
  }
}
