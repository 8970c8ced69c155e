// Who signs the machine info of Apple devices that enroll automatically or over the air.
import { X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { Services } from "../../../platform/core/context.ts";
import { startedPart } from "../../../platform/core/running.ts";
import { BadSetting } from "../../../platform/core/security/tls.ts";
import type { Settings } from "../../../platform/core/settings/settings.ts";

/** Apple iPhone Device CA, which signs the certificates of Macs too. It has ended, but still signs. */
const APPLE = `
-----BEGIN CERTIFICATE-----
MIIDaTCCAlGgAwIBAgIBATANBgkqhkiG9w0BAQUFADB5MQswCQYDVQQGEwJVUzET
MBEGA1UEChMKQXBwbGUgSW5jLjEmMCQGA1UECxMdQXBwbGUgQ2VydGlmaWNhdGlv
biBBdXRob3JpdHkxLTArBgNVBAMTJEFwcGxlIGlQaG9uZSBDZXJ0aWZpY2F0aW9u
IEF1dGhvcml0eTAeFw0wNzA0MTYyMjU0NDZaFw0xNDA0MTYyMjU0NDZaMFoxCzAJ
BgNVBAYTAlVTMRMwEQYDVQQKEwpBcHBsZSBJbmMuMRUwEwYDVQQLEwxBcHBsZSBp
UGhvbmUxHzAdBgNVBAMTFkFwcGxlIGlQaG9uZSBEZXZpY2UgQ0EwgZ8wDQYJKoZI
hvcNAQEBBQADgY0AMIGJAoGBAPGUSsnquloYYK3Lok1NTlQZaRdZB2bLl+hmmkdf
Rq5nerVKc1SxywT2vTa4DFU4ioSDMVJl+TPhl3ecK0wmsCU/6TKqewh0lOzBSzgd
Z04IUpRai1mjXNeT9KD+VYW7TEaXXm6yd0UvZ1y8Cxi/WblshvcqdXbSGXH0KWO5
JQuvAgMBAAGjgZ4wgZswDgYDVR0PAQH/BAQDAgGGMA8GA1UdEwEB/wQFMAMBAf8w
HQYDVR0OBBYEFLL+ISNEhpVqedWBJo5zENinTI50MB8GA1UdIwQYMBaAFOc0Ki4i
3jlga7SUzneDYS8xoHw1MDgGA1UdHwQxMC8wLaAroCmGJ2h0dHA6Ly93d3cuYXBw
bGUuY29tL2FwcGxlY2EvaXBob25lLmNybDANBgkqhkiG9w0BAQUFAAOCAQEAd13P
Z3pMViukVHe9WUg8Hum+0I/0kHKvjhwVd/IMwGlXyU7DhUYWdja2X/zqj7W24Aq5
7dEKm3fqqxK5XCFVGY5HI0cRsdENyTP7lxSiiTRYj2mlPedheCn+k6T5y0U4Xr40
FXwWb2nWqCF1AgIudhgvVbxlvqcxUm8Zz7yDeJ0JFovXQhyO5fLUHRLCQFssAbf8
B4i8rYYsBUhYTspVJcxVpIIltkYpdIRSIARA49HNvKK4hzjzMS/OhKQpVKw+OCEZ
xptCVeN2pjbdt9uzi175oVo/u6B2ArKAW17u6XEHIdDMOe7cb33peVI6TD15W4MI
pyQPbp8orlXe+tA8JA==
-----END CERTIFICATE-----
`;

/** Read at the start, so that a wrong file is noticed then. */
export const deviceAnchors = startedPart("signers of machine info", ({ settings }) => loadAnchors(settings));

const BLOCK = /-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----/g;

export async function loadAnchors({ apple_device_ca: file }: Settings): Promise<readonly X509Certificate[]> {
  if (file === undefined) return [new X509Certificate(APPLE.trim())];
  const text = await readFile(file, "utf8").catch((error: Error) => {
    throw new BadSetting(`apple_device_ca: ${error.message}`);
  });
  try {
    const anchors = (text.match(BLOCK) ?? []).map((block) => new X509Certificate(block));
    if (anchors.length > 0) return anchors;
  } catch {
    // Reported below.
  }
  throw new BadSetting(`apple_device_ca: ${file} contains no certificate in PEM format`);
}

/** Intermediate certificates between a device's and the one that is trusted. */
const CHAIN_MAX = 3;

/**
 * Whether the device's certificate leads to one that is trusted, through others in the message. Dates are not checked:
 * Apple's own certificate has ended, and devices keep theirs.
 */
export function isOfTrustedDevice(
  { running }: Pick<Services, "running">,
  certificate: X509Certificate,
  others: readonly X509Certificate[],
): boolean {
  const trusted = running.find(deviceAnchors) ?? [];
  let current = certificate;
  for (let step = 0; step <= CHAIN_MAX; step++) {
    const certificate = current;
    const issued = (issuer: X509Certificate) => certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey);
    if (trusted.some(issued)) return true;
    const next = others.find((other) => other.ca && issued(other));
    if (!next) return false;
    current = next;
  }
  return false;
}
