// Requests pushes, and sends those that are due. Any server may send them: what is due is in the store.
import { channels } from "../../../platform/core/channels.ts";
import { hours, isoAt, minutes, seconds } from "../../../platform/core/clock.ts";
import { startTriggeredTask, type TriggeredTask } from "../../../platform/core/concurrency/triggered-task.ts";
import type { Context, Services } from "../../../platform/core/context.ts";
import { byId } from "../../../platform/core/maps.ts";
import { startedPart } from "../../../platform/core/running.ts";
import { gt, lte, oneOf } from "../../../platform/store/query.ts";
import type { RowOf } from "../../../platform/store/table.ts";
import { outcomeOf, type PushOutcome } from "./answers.ts";
import { type PushTarget, pushCertificate, pushTargets, waitingEnrollments } from "./devices.ts";
import { type PushLine, pushLine } from "./line.ts";
import type { applePushes } from "./tables.ts";

type PushRow = RowOf<typeof applePushes>;

/** A device that was asked to connect is not asked again within this time: it takes everything that waits. */
const MERGED_WITHIN = seconds(3);
/** While a command waits, the device is asked again after an hour, after four more, and then every day. */
const REMINDERS = [hours(1), hours(4)] as const;
const LATER_REMINDERS = hours(24);
const BATCH_SIZE = 1_000;
/** How long a certificate that the service has refused is not used. */
const REFUSED_FOR = hours(1);
const JITTER = 0.5;
/** Pushes that are due within this time are sent then; the job sends the others. */
const WATCHED = minutes(1);
const byDue = [{ column: "due_at", direction: "asc" }] as const;

/** Asks the devices to connect, after the commit of the caller's transaction. */
export async function push(
  { store, clock }: Pick<Context, "store" | "clock">,
  enrollmentIds: readonly number[],
): Promise<void> {
  if (enrollmentIds.length === 0) return;
  const due_at = clock.iso();
  await store.applePushes.upsert(
    enrollmentIds.map((enrollment_id) => ({ enrollment_id, due_at, reminders: 0 })),
    { on: ["enrollment_id"], set: ["due_at", "reminders"], returning: [] },
  );
  await store.notify(channels.applePushes, "");
}

/** Sends the pushes that are due, soon after they were requested. */
export const pushes = startedPart("pushes to Apple devices", async (services): Promise<TriggeredTask> => {
  let timer: NodeJS.Timeout | null = null;
  const task: TriggeredTask = await startTriggeredTask(
    services,
    { channel: channels.applePushes, least: 100, more: 200, failure: "cannot send pushes; trying again" },
    async () => {
      await sendDue(services);
      // Merged and repeated pushes do not wait for the job.
      const [next] = await services.store.applePushes.pick(["due_at"], {
        where: gt("due_at", ""),
        order: byDue,
        limit: 1,
      });
      if (timer !== null) clearTimeout(timer);
      const wait = next?.due_at == null ? null : Date.parse(next.due_at) - services.clock.now();
      if (wait === null || wait <= 0 || wait > WATCHED) return;
      timer = setTimeout(() => task.plan(), wait);
      timer.unref();
    },
  );
  return {
    ...task,
    async stop() {
      await task.stop();
      if (timer !== null) clearTimeout(timer);
    },
  };
});

/** Returns how many pushes were sent. */
export async function sendDue(services: Services, signal?: AbortSignal): Promise<number> {
  const { running, clock, log } = services;
  const line = running.of(pushLine);
  let sent = 0;
  for (;;) {
    if (signal?.aborted) return sent;
    // The certificate is asked for only if something is due: most servers never use it.
    if ((await services.store.applePushes.first({ where: lte("due_at", clock.iso()) })) === null) return sent;
    const certificate = await pushCertificate(services.store);
    if (certificate === null || line.refuses(certificate, clock.now())) return sent;
    const claimed = await claim(services);
    if (claimed === null) return sent;
    const { targets, rows } = claimed;
    const outcomes = await Promise.all(
      targets.map(async (target) => ({
        target,
        outcome: await pushOne(services, line, certificate, target, rows.get(target.enrollment_id)!),
      })),
    );
    sent += outcomes.filter(({ outcome }) => outcome.kind === "accepted").length;
    await record(services, outcomes, rows);
    if (outcomes.some(({ outcome }) => outcome.kind === "certificate_refused")) {
      line.refuse(certificate, clock.now() + REFUSED_FOR);
      log.error(
        { certificate: certificate.fingerprint },
        "the push service refuses the push certificate, so that devices are not asked to connect; renew or replace the certificate",
      );
    }
  }
}

/** When the device is asked again if nothing happens. */
const nextReminder = (now: number, reminders: number): number => now + (REMINDERS[reminders] ?? LATER_REMINDERS);

const spread = ({ random }: Pick<Services, "random">, milliseconds: number): number =>
  milliseconds + random.int(Math.ceil(milliseconds * JITTER));

/** Takes pushes that are due, so that no other server sends them too. Null: none is due. */
async function claim(services: Services): Promise<{ targets: PushTarget[]; rows: Map<number, PushRow> } | null> {
  const { clock } = services;
  return services.store.tx(
    async (store) => {
      const now = clock.now();
      const due = await store.applePushes.list({
        where: lte("due_at", isoAt(now)),
        order: byDue,
        limit: BATCH_SIZE,
      });
      if (due.length === 0) return null;
      const ids = due.map(({ enrollment_id }) => enrollment_id);
      const targets = new Map((await pushTargets(store, ids)).map((target) => [target.enrollment_id, target]));
      const reminded = due.filter(({ reminders }) => reminders > 0).map(({ enrollment_id }) => enrollment_id);
      const waiting = reminded.length === 0 ? new Set() : await waitingEnrollments(store, reminded);
      const taken: PushRow[] = [];
      const later: { id: number; due_at: string | null }[] = [];
      const over: number[] = [];
      for (const row of due) {
        const target = targets.get(row.enrollment_id);
        const isWanted = row.reminders === 0 || waiting.has(row.enrollment_id);
        const mergedUntil = row.pushed_at === null ? 0 : Date.parse(row.pushed_at) + MERGED_WITHIN;
        if (!target || !isWanted) over.push(row.id);
        // The device's next token requests a push again.
        else if (row.refused_at !== null && target.token_at <= row.refused_at) later.push({ id: row.id, due_at: null });
        else if (row.reminders === 0 && mergedUntil > now) later.push({ id: row.id, due_at: isoAt(mergedUntil) });
        else taken.push(row);
      }
      await store.applePushes.delete(oneOf("id", over));
      if (later.length > 0) await store.applePushes.updateEach(later);
      if (taken.length > 0)
        await store.applePushes.updateEach(
          taken.map(({ id, reminders }) => ({
            id,
            due_at: isoAt(nextReminder(now, reminders)),
            pushed_at: isoAt(now),
            reminders: reminders + 1,
          })),
        );
      return {
        targets: taken.map(({ enrollment_id }) => targets.get(enrollment_id)!),
        rows: new Map(taken.map((row) => [row.enrollment_id, row])),
      };
    },
    { lock: "apple-pushes" },
  );
}

async function pushOne(
  { clock, metrics }: Services,
  line: PushLine,
  certificate: Parameters<PushLine["send"]>[0],
  target: PushTarget,
  { reminders }: PushRow,
): Promise<PushOutcome> {
  const expiration = Math.floor(nextReminder(clock.now(), reminders) / 1000);
  const { token, topic, magic } = target;
  const answer = await line.send(certificate, { token, topic, magic, expiration });
  metrics.applePushes.inc({ status: String(answer.status), reason: answer.reason.slice(0, 50) });
  return outcomeOf(answer, Date.parse(target.token_at));
}

interface PushedTarget {
  readonly target: PushTarget;
  readonly outcome: PushOutcome;
}

/** Pushes that were accepted or rejected are repeated by the reminder that `claim` has set. */
async function record(
  services: Services,
  pushed: readonly PushedTarget[],
  rows: ReadonlyMap<number, PushRow>,
): Promise<void> {
  const { store, clock } = services;
  const changes = pushed.flatMap(({ target, outcome }) => {
    if (outcome.kind === "accepted" || outcome.kind === "rejected") return [];
    const { id, reminders, refused_at } = rows.get(target.enrollment_id)!;
    const isInvalid = outcome.kind === "token_invalid";
    const after = outcome.kind === "later" ? spread(services, outcome.after) : 0;
    return {
      id,
      due_at: isInvalid ? null : isoAt(clock.now() + after),
      refused_at: isInvalid ? target.token_at : refused_at,
      reminders,
      pushed_at: null,
    };
  });
  if (changes.length === 0) return;
  await store.tx(async (tx) => {
    // A push that was requested in the meantime has its own time.
    const current = byId(await tx.applePushes.getMany(changes.map(({ id }) => id)));
    const unchanged = changes.filter(({ id, reminders }) => current.get(id)?.reminders === reminders + 1);
    if (unchanged.length > 0) await tx.applePushes.updateEach(unchanged);
  });
}
