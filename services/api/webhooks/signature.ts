import { createHmac } from 'node:crypto';

/** Returns the headers of a delivery (Standard Webhooks 1.0). With the secret, the receiver can verify its sender and time. */
export function signedHeaders(id: string, nowMs: number, body: string, secret: string): Record<string, string> {
  const timestamp = String(Math.floor(nowMs / 1_000));
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
  return {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${signature}`,
  };
}
