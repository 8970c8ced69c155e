// The server's line to the push service: one session for the push certificate, opened when it is needed.
import { isoAt, seconds } from "../../../platform/core/clock.ts";
import { part } from "../../../platform/core/running.ts";
import { type PushAnswer, unanswered } from "./answers.ts";
import { connectToPushService } from "./connect.ts";
import type { PushCertificate } from "./devices.ts";
import { type Push, type PushSession, pushSession } from "./session.ts";

export interface Line {
  send(certificate: PushCertificate, push: Push): Promise<PushAnswer>;
  /** Whether the service has refused this certificate a short time ago. */
  refuses(certificate: PushCertificate, now: number): boolean;
  refuse(certificate: PushCertificate, until: number): void;
  stop(): void;
}

/** After a failure, connections are opened at most this often; each failure doubles the pause. */
const FIRST_PAUSE = seconds(1);
const LONGEST_PAUSE = seconds(60);

export const pushLine = part("line to the push service", ({ settings, log, clock, random, metrics }): Line => {
  let current: { readonly fingerprint: string; readonly session: Promise<PushSession> } | null = null;
  let refused: { readonly fingerprint: string; readonly until: number } | null = null;
  let failures = 0;
  let pausedUntil = 0;

  function failed(error: unknown): void {
    failures++;
    const pause = Math.min(FIRST_PAUSE * 2 ** (failures - 1), LONGEST_PAUSE);
    pausedUntil = clock.now() + pause / 2 + random.int(pause / 2);
    log.warn({ err: error, until: isoAt(pausedUntil) }, "cannot connect to the push service");
  }

  async function sessionFor(certificate: PushCertificate): Promise<PushSession> {
    const old = current;
    if (old !== null) {
      const session = await old.session.catch(() => null);
      if (old.fingerprint === certificate.fingerprint && session?.isUsable) return session;
      // Another caller may have opened the next session while this one waited.
      if (current !== old) return sessionFor(certificate);
      session?.close();
    }
    if (clock.now() < pausedUntil) throw new Error("the push service could not be reached a moment ago");
    const session = connectToPushService(settings, certificate).then(pushSession);
    current = { fingerprint: certificate.fingerprint, session };
    metrics.appleConnections.inc();
    // One failure counts once, however many pushes wait for the session.
    session.then(() => {
      failures = 0;
    }, failed);
    return session;
  }

  function accept(): void {
    if (refused === null) return;
    refused = null;
    metrics.appleCertificateRefused.set(0);
  }

  return {
    async send(certificate, push) {
      try {
        const answer = await (await sessionFor(certificate)).send(push);
        if (answer.status === 200) accept();
        return answer;
      } catch (error) {
        return unanswered(error instanceof Error ? error.message : "no connection");
      }
    },
    refuses: ({ fingerprint }, now) => refused !== null && refused.fingerprint === fingerprint && now < refused.until,
    refuse({ fingerprint }, until) {
      refused = { fingerprint, until };
      metrics.appleCertificateRefused.set(1);
    },
    stop() {
      current?.session.then(
        (session) => session.close(),
        () => {},
      );
      current = null;
    },
  };
});
