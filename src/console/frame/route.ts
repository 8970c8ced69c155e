import { createContext, useContext } from "react";
import type { RouteName } from "../routes.ts";

const RouteContext = createContext<RouteName | null>(null);

/** Says to what is inside which route it belongs to. */
export const RouteProvider = RouteContext.Provider;

/** The route of the page. Null: there is no page at this address. */
export const useRouteName = (): RouteName | null => useContext(RouteContext);
