// The server's line to the push service: one session for the push certificate, opened when it is needed.
import { isoAt, seconds } from "../../../platform/core/clock.ts";
import type { Services } from "../../../platform/core/context.ts";
import { part } from "../../../platform/core/running.ts";
import { type PushAnswer, unanswered } from "./answers.ts";
import { connectToPushService } from "./connect.ts";
import type { PushCertificate } from "./devices.ts";
import { type Push, PushSession } from "./session.ts";

/** After a failure, connections are opened at most this often; each failure doubles the pause. */
const FIRST_PAUSE = seconds(1);
const LONGEST_PAUSE = seconds(60);

type Deps = Pick<Services, "settings" | "log" | "clock" | "random" | "metrics">;

export class PushLine {
  readonly #deps: Deps;
  #current: { readonly fingerprint: string; readonly session: Promise<PushSession> } | null = null;
  #refused: { readonly fingerprint: string; readonly until: number } | null = null;
  #failures = 0;
  #pausedUntil = 0;

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  async send(certificate: PushCertificate, push: Push): Promise<PushAnswer> {
    try {
      const answer = await (await this.#sessionFor(certificate)).send(push);
      if (answer.status === 200) this.#accept();
      return answer;
    } catch (error) {
      return unanswered(error instanceof Error ? error.message : "no connection");
    }
  }

  /** Whether the service has refused this certificate a short time ago. */
  refuses({ fingerprint }: PushCertificate, now: number): boolean {
    return this.#refused !== null && this.#refused.fingerprint === fingerprint && now < this.#refused.until;
  }

  refuse({ fingerprint }: PushCertificate, until: number): void {
    this.#refused = { fingerprint, until };
    this.#deps.metrics.appleCertificateRefused.set(1);
  }

  stop(): void {
    this.#current?.session.then(
      (session) => session.close(),
      () => {},
    );
    this.#current = null;
  }

  async #sessionFor(certificate: PushCertificate): Promise<PushSession> {
    const { clock, settings, metrics } = this.#deps;
    const old = this.#current;
    if (old !== null) {
      const session = await old.session.catch(() => null);
      if (old.fingerprint === certificate.fingerprint && session?.isUsable) return session;
      // Another caller may have opened the next session while this one waited.
      if (this.#current !== old) return this.#sessionFor(certificate);
      session?.close();
    }
    if (clock.now() < this.#pausedUntil) throw new Error("the push service could not be reached a moment ago");
    const session = connectToPushService(settings, certificate).then((connected) => new PushSession(connected));
    this.#current = { fingerprint: certificate.fingerprint, session };
    metrics.appleConnections.inc();
    // One failure counts once, however many pushes wait for the session.
    session.then(
      () => {
        this.#failures = 0;
      },
      (error: unknown) => this.#pause(error),
    );
    return session;
  }

  #pause(error: unknown): void {
    const { clock, random, log } = this.#deps;
    this.#failures++;
    const pause = Math.min(FIRST_PAUSE * 2 ** (this.#failures - 1), LONGEST_PAUSE);
    this.#pausedUntil = clock.now() + pause / 2 + random.int(pause / 2);
    log.warn({ err: error, until: isoAt(this.#pausedUntil) }, "cannot connect to the push service");
  }

  #accept(): void {
    if (this.#refused === null) return;
    this.#refused = null;
    this.#deps.metrics.appleCertificateRefused.set(0);
  }
}

export const pushLine = part("line to the push service", (services) => new PushLine(services));
