const browsers = [
  ["Edge", /Edg\/\d/],
  ["Firefox", /Firefox\/\d/],
  ["Chrome", /Chrome\/\d/],
  ["Safari", /Version\/\d.*Safari/],
] as const;
const systems = ["Windows", "Mac OS X", "Android", "iPhone", "iPad", "Linux"] as const;

/** A readable name for the program of a user agent: "Firefox on Linux", or what the program calls itself. */
export function programOf(userAgent: string): string {
  const browser = browsers.find(([, pattern]) => pattern.test(userAgent))?.[0];
  if (browser === undefined) return userAgent.slice(0, 60) || "unknown";
  const system = systems.find((name) => userAgent.includes(name));
  return system === undefined ? browser : `${browser} on ${system.replace(" OS X", "")}`;
}
