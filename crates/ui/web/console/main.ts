// Entry point of the console: one app on one page.
import { mount } from "svelte";
import App from "./App.svelte";
import "./console.css";
import { take } from "./lib/key";

take();

const target = document.getElementById("app");
if (target) mount(App, { target });
