import { scriptBatchesApi } from "../../../api/delivery/script-batches.ts";
import { scriptsApi } from "../../../api/delivery/scripts.ts";
import { type Route, route } from "../../platform/core/http/route.ts";
import { cancelBatch } from "./batches/cancel.ts";
import { createBatch } from "./batches/create.ts";
import { getBatch, hostsOfBatch, listBatches } from "./batches/view.ts";
import { replaceScripts } from "./replace.ts";
import { resultOf, runAndWait, runOnHost } from "./run.ts";
import {
  createScript,
  deleteScript,
  downloadScript,
  getScript,
  listScripts,
  scriptsOfHost,
  updateScript,
} from "./saved.ts";

export const scriptRoutes: readonly Route[] = [
  route(scriptsApi.list, ({ query }, ctx) => listScripts(ctx, query)),
  route(scriptsApi.get, ({ params, query }, ctx) =>
    query.alt === "media" ? downloadScript(ctx, params.id) : getScript(ctx, params.id),
  ),
  route(scriptsApi.create, ({ body }, ctx) => createScript(ctx, body.team_id, body.script)),
  route(scriptsApi.update, ({ params, body }, ctx) => updateScript(ctx, params.id, body)),
  route(scriptsApi.replace, ({ query, body }, ctx) => replaceScripts(ctx, query, body)),
  route(scriptsApi.delete, ({ params }, ctx) => deleteScript(ctx, params.id)),
  route(scriptsApi.ofHost, ({ params, query }, ctx) => scriptsOfHost(ctx, params.id, query)),
  route(scriptsApi.run, ({ body }, ctx) => runOnHost(ctx, body)),
  route(scriptsApi.runSync, ({ body }, ctx, reply) => runAndWait(ctx, body, reply)),
  route(scriptsApi.result, ({ params }, ctx) => resultOf(ctx, params.execution_id)),
  route(scriptBatchesApi.create, ({ body }, ctx) => createBatch(ctx, body)),
  route(scriptBatchesApi.list, ({ query }, ctx) => listBatches(ctx, query)),
  route(scriptBatchesApi.get, ({ params }, ctx) => getBatch(ctx, params.batch_execution_id)),
  route(scriptBatchesApi.hosts, ({ params, query }, ctx) => hostsOfBatch(ctx, params.batch_execution_id, query)),
  route(scriptBatchesApi.cancel, ({ params }, ctx) => cancelBatch(ctx, params.batch_execution_id)),
];
