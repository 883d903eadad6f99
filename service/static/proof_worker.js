// Solves a challenge (ALTCHA, version 2) beside the page: tries numbers one by one until the derived key begins as asked.
"use strict";

function bytes(hex) {
  return Uint8Array.from(hex.match(/../g) || [], function (pair) { return parseInt(pair, 16); });
}

function hex(buffer) {
  return Array.from(new Uint8Array(buffer), function (byte) { return byte.toString(16).padStart(2, "0"); }).join("");
}

async function derive(password, asked) {
  const key = await crypto.subtle.importKey("raw", password, "PBKDF2", false, ["deriveBits"]);
  const how = { name: "PBKDF2", hash: "SHA-256", salt: bytes(asked.salt), iterations: asked.cost };
  return hex(await crypto.subtle.deriveBits(how, key, asked.keyLength * 8));
}

self.addEventListener("message", async function (event) {
  const challenge = event.data;
  const asked = challenge.parameters;
  const nonce = bytes(asked.nonce);
  const password = new Uint8Array(nonce.length + 4);
  password.set(nonce);
  const began = Date.now();
  for (let counter = 0; counter < 1e6; counter += 1) {
    new DataView(password.buffer).setUint32(nonce.length, counter);
    const derived = await derive(password, asked);
    if (derived.startsWith(asked.keyPrefix)) {
      const solution = { counter: counter, derivedKey: derived, time: Date.now() - began };
      self.postMessage(btoa(JSON.stringify({ challenge: challenge, solution: solution })));
      return;
    }
  }
  throw new Error("no solution was found");
});
