// Started by `svc agent run`. The agent as one file starts itself instead.
import { serveAgent } from "./child.ts";

serveAgent();
