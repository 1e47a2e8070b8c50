// Checks a receipt of lethe with jose. usage: node check.mjs RECEIPT.json PUBLIC-KEY.pem
//
// Prints a JSON object: what it found, "ok" or why not, for the signature by this key.
import { readFileSync } from 'node:fs'
import { calculateJwkThumbprint, exportJWK, generalVerify, importSPKI } from 'jose'

const receipt = JSON.parse(readFileSync(process.argv[2], 'utf8'))
const key = await importSPKI(readFileSync(process.argv[3], 'utf8'), 'EdDSA', { extractable: true })
let jose
try {
  const { protectedHeader } = await generalVerify(receipt, key, { algorithms: ['EdDSA'] })
  const thumbprint = await calculateJwkThumbprint(await exportJWK(key))
  jose = protectedHeader.kid === thumbprint ? 'ok' : 'the signature names another key'
} catch (refusal) {
  jose = `${refusal.name}: ${refusal.message}`
}
console.log(JSON.stringify({ jose }))
