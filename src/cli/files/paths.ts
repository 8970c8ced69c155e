// Where the command line stores its files (XDG Base Directory Specification).
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";

type Env = Readonly<Record<string, string | undefined>>;

const home = (env: Env) => env.HOME || env.USERPROFILE || homedir();

export function configDir(env: Env): string {
  if (env.SVC_CONFIG_DIR) return env.SVC_CONFIG_DIR;
  // The XDG Base Directory Specification requires that relative paths are ignored here.
  if (env.XDG_CONFIG_HOME && isAbsolute(env.XDG_CONFIG_HOME)) return join(env.XDG_CONFIG_HOME, "svc");
  if (process.platform === "win32" && env.APPDATA) return join(env.APPDATA, "svc");
  return join(home(env), ".config", "svc");
}

/** The directory for files that can be recreated. */
export function cacheDir(env: Env): string {
  if (env.XDG_CACHE_HOME && isAbsolute(env.XDG_CACHE_HOME)) return join(env.XDG_CACHE_HOME, "svc");
  if (process.platform === "win32" && env.LOCALAPPDATA) return join(env.LOCALAPPDATA, "svc", "cache");
  return join(home(env), ".cache", "svc");
}
