//! Properties of sizes.
