// The parts of undici that requests need. The package's main module also loads fetch, WebSocket, caches and mocks,
// which would double the run time of a short command.
import { createRequire } from "node:module";
import type { Agent, Dispatcher } from "undici";

type Request = (
  this: Dispatcher,
  options: Dispatcher.RequestOptions & { origin: string },
) => Promise<Dispatcher.ResponseData>;

interface Parts {
  readonly Agent: new (options: Agent.Options) => Dispatcher;
  readonly request: Request;
}

const require = createRequire(import.meta.url);

/** undici's agent and its request call, loaded when the first request is made. */
export function loadUndici(): Parts {
  try {
    return {
      Agent: require("undici/lib/dispatcher/agent.js") as Parts["Agent"],
      request: (require("undici/lib/api/index.js") as { request: Request }).request,
    };
  } catch {
    // The internal files of a package may move in any release.
    const { Agent } = require("undici") as { Agent: Parts["Agent"] };
    return {
      Agent,
      request: (require("undici") as { Dispatcher: { prototype: { request: Request } } }).Dispatcher.prototype.request,
    };
  }
}
