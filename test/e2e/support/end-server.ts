// Ends a server at a moment of a command's delivery to a simulated Apple device.
import type { Bed } from "../../soak/support/bed.ts";
import type { MessageProxy } from "../../support/message-proxy.ts";

export const moments = ["the command was sent", "the answer arrives", "the answer was stored"] as const;

/** Kills the server at this moment of the nth device's command. Resolves when it has ended. */
export function endServer(
  bed: Bed,
  proxy: MessageProxy,
  moment: (typeof moments)[number],
  { uuid, nth = 1 }: { readonly uuid: string; readonly nth?: number },
): Promise<void> {
  let seen = 0;
  return new Promise((resolve) => {
    const isTime = (now: typeof moment, text: Buffer) => {
      if (now !== moment || !text.includes(uuid) || ++seen !== nth) return "passed";
      const { process } = bed.alive;
      process.once("exit", () => resolve());
      process.kill("SIGKILL");
      return "dropped";
    };
    proxy.request = (body) => isTime("the answer arrives", body);
    proxy.reply = (request, body) =>
      request.includes(uuid) ? isTime("the answer was stored", request) : isTime("the command was sent", body);
  });
}
