// The end of a sign-up as a server-sent event (WHATWG HTML, 9.2). Until then, comments keep the connection open.

import type { StreamedBody } from "../../../../api/bodies.ts";
import { androidApi } from "../../../../api/devices/android.ts";
import { userStreams } from "../../../accounts/sessions/streams.ts";
import { seconds } from "../../../platform/core/clock.ts";
import { wait } from "../../../platform/core/concurrency/wait.ts";
import type { Context } from "../../../platform/core/context.ts";
import { tokenAllows } from "../../../platform/core/http/token-scope.ts";
import { may } from "../../../platform/core/security/access.ts";
import { enterpriseRow } from "./enterprise.ts";
import { signUpOf } from "./sign-up.ts";

const LOOK_EVERY = seconds(1);
/** In looks. */
const BEAT_EVERY = 10;

export function followSignUp(ctx: Context): StreamedBody {
  const stop = new AbortController();
  const closed = ctx.running.of(userStreams).open({
    viewer: ctx.user,
    kind: "sign-ups",
    allowed: (user) => may(user, "mdm:trust", null) && tokenAllows(user, androidApi.signUpEvents),
    end: () => stop.abort(),
  });
  const events = eventsOf(ctx, stop.signal);
  const encoder = new TextEncoder();
  return {
    headers: { "cache-control": "no-store", "x-accel-buffering": "no" },
    body: new ReadableStream<Uint8Array>(
      {
        async pull(controller) {
          const { value, done } = await events.next();
          if (!done) return controller.enqueue(encoder.encode(value));
          closed();
          controller.close();
        },
        async cancel() {
          closed();
          stop.abort();
          await events.return();
        },
      },
      { highWaterMark: 1 },
    ),
  };
}

async function* eventsOf(ctx: Context, signal: AbortSignal): AsyncGenerator<string, void> {
  yield ": the sign-up goes on\n\n";
  for (let looks = 1; !signal.aborted; looks++) {
    const end = await endOf(ctx);
    if (end !== null) return void (yield end);
    if (looks % BEAT_EVERY === 0) yield ": the sign-up goes on\n\n";
    await wait(LOOK_EVERY, signal);
  }
}

async function endOf(ctx: Context): Promise<string | null> {
  if ((await enterpriseRow(ctx.store)) !== null) return "data: Device management of Android is turned on.\n\n";
  const signUp = await signUpOf(ctx, ctx.user.id);
  if (!signUp) return failure("no sign-up is in progress");
  return signUp.state === "failed" ? failure(signUp.failure) : null;
}

const failure = (reason: string): string => `event: error\ndata: ${reason.replace(/\s+/g, " ")}\n\n`;
