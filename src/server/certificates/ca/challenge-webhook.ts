// The challenge service of hosted_scep_ca: a webhook that returns a one-time challenge.
import type { Clock } from "../../platform/core/clock.ts";
import type { Random } from "../../platform/core/random.ts";
import { type Asking, askCa, CaError } from "./upstream.ts";

interface ChallengeService {
  readonly scepUrl: string;
  readonly challengeUrl: string;
  readonly username: string;
  readonly password: string;
}

type Asker = Asking & { readonly clock: Clock; readonly random: Random };

const CHALLENGE_MAX = 1024;

export async function fetchChallenge(services: Asker, service: ChallengeService): Promise<string> {
  const { status, body } = await askCa(services, service.challengeUrl, {
    method: "POST",
    headers: { "content-type": "application/json" },
    auth: { username: service.username, password: service.password },
    maxBytes: 65_536,
    body: JSON.stringify({
      webhook: {
        id: 1,
        name: "SCEPChallenge",
        webhookEvent: "SCEPChallenge",
        eventTimestamp: Math.floor(services.clock.now() / 1000),
      },
      event: {
        scepServerUrl: service.scepUrl,
        payloadIdentifier: services.random.uuid(),
        payloadTypes: ["com.apple.security.scep"],
      },
    }),
  });
  if (status === 401 || status === 403)
    throw new CaError(
      "credentials",
      `the challenge service does not accept the credentials (status ${status})`,
      status,
    );
  if (status !== 200) throw new CaError("answer", `the challenge service returned status ${status}`, status);
  const challenge = body.toString("utf8").trim();
  if (
    challenge === "" ||
    challenge.length > CHALLENGE_MAX ||
    !/^[\x21-\x7e]+$/.test(challenge) ||
    challenge.startsWith("<")
  )
    throw new CaError("answer", "the challenge service returned no valid challenge", status);
  return challenge;
}
