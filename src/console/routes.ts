/** The paths of the console's pages. The server answers them with the console; `pages.ts` says what they show. */
export const routes = {
  hosts: "/hosts",
} as const;

export type RouteName = keyof typeof routes;
export const consolePaths: readonly string[] = Object.values(routes);
