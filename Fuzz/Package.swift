// swift-tools-version: 6.1
import PackageDescription

// Two libFuzzer programs for what reads a host's bytes. A package of its own: they are built with
// sanitizers, and plain builds stay free of them. `Fuzz/run SECONDS` builds and runs both.
let package = Package(
  name: "fuzz",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "pocket", path: "..")],
  targets: [
    .executableTarget(
      name: "FuzzAssembler", dependencies: [.product(name: "JobModel", package: "pocket")]),
    .executableTarget(
      name: "FuzzReplies", dependencies: [.product(name: "JobModel", package: "pocket")]),
  ],
  swiftLanguageModes: [.v6]
)
