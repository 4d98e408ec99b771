// Makes a static page come alive. Whatever fails here leaves the page as it was.
document.documentElement.dataset["script"] = "on";
