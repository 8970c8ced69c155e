import { commandsApi } from "../../../api/devices/commands.ts";
import { olderApi } from "../../../api/devices/older.ts";
import { type Route, route } from "../../platform/core/http/route.ts";
import { listCommands, resultsOf } from "./list.ts";
import { runCommand } from "./run.ts";
import { cancelCommand } from "./waiting.ts";

export const commandRoutes: readonly Route[] = [
  route(commandsApi.run, ({ body }, ctx) => runCommand(ctx, body)),
  route(olderApi.enqueue, ({ body: { command, device_ids } }, ctx) =>
    runCommand(ctx, { command, host_uuids: device_ids }),
  ),
  route(commandsApi.results, ({ query }, ctx) => resultsOf(ctx, query)),
  route(commandsApi.list, ({ query }, ctx) => listCommands(ctx, query)),
  route(commandsApi.cancel, async ({ params }, ctx) => {
    await cancelCommand(ctx, params.id, params.command_uuid);
    return {};
  }),
];
