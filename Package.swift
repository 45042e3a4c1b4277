// swift-tools-version: 6.1
import PackageDescription

// Warnings are errors in `make` (see Makefile), not here, so that a newer compiler's new warning
// does not stop somebody who only wants to build.
let strict: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
  name: "pocket",
  platforms: [.macOS(.v15)],
  products: [
    .library(name: "PocketKit", targets: ["PocketKit"]),
    // For Fuzz/, a package of its own.
    .library(name: "JobModel", targets: ["JobModel"]),
    .executable(name: "pocket", targets: ["pocket"]),
  ],
  targets: [
    .systemLibrary(
      name: "CSSH2", pkgConfig: "libssh2",
      providers: [.apt(["libssh2-1-dev"]), .brew(["libssh2"])]),
    .systemLibrary(
      name: "CSQLite",
      providers: [.apt(["libsqlite3-dev"])]),
    .systemLibrary(
      name: "CCrypto", pkgConfig: "libcrypto",
      providers: [.apt(["libssl-dev"]), .brew(["openssl@3"])]),
    .target(name: "CPosix"),

    .target(name: "JobModel", dependencies: ["CCrypto"], swiftSettings: strict),
    .target(
      name: "RemoteScripts", path: "shell",
      resources: [
        .embedInCode("prelude.sh"), .embedInCode("processes.sh"), .embedInCode("records.sh"),
        .embedInCode("carriers.sh"), .embedInCode("cgroups.sh"), .embedInCode("causes.sh"),
        .embedInCode("evidence.sh"),
        .embedInCode("staging.sh"), .embedInCode("signals.sh"),
        .embedInCode("launch.sh"), .embedInCode("supervise.sh"), .embedInCode("watch.sh"),
        .embedInCode("lead.sh"),
        .embedInCode("follow.sh"), .embedInCode("cancel.sh"), .embedInCode("inspect.sh"),
        .embedInCode("list.sh"), .embedInCode("adopt.sh"), .embedInCode("remove.sh"),
        .embedInCode("pieces.sh"),
        .embedInCode("doctor.sh"), .embedInCode("asking.sh"), .embedInCode("storage.sh"),
      ],
      swiftSettings: strict),
    .target(
      name: "SSHClient", dependencies: ["CSSH2", "CCrypto", "CPosix"], swiftSettings: strict),
    .target(
      name: "JobStore", dependencies: ["CSQLite", "CPosix", "JobModel"], swiftSettings: strict),
    .target(name: "Agents", dependencies: ["JobModel"], swiftSettings: strict),
    .target(
      name: "PocketKit",
      dependencies: ["Agents", "JobStore", "SSHClient", "RemoteScripts", "JobModel"],
      swiftSettings: strict),
    .executableTarget(
      name: "pocket",
      dependencies: ["PocketKit", "Agents", "JobStore", "SSHClient", "JobModel", "CPosix"],
      swiftSettings: strict),

    // How much of the heap is in use, which Swift cannot ask.
    .target(name: "CHeap", path: "Tests/CHeap"),
    .target(
      name: "TestSupport", dependencies: ["CPosix", "JobModel", "SSHClient"], path: "Tests/Support",
      exclude: ["mock_api.py"], swiftSettings: strict),
    .executableTarget(
      name: "bench", dependencies: ["SSHClient", "TestSupport"], path: "Tests/Bench",
      swiftSettings: strict),
    .testTarget(name: "SupportTests", dependencies: ["TestSupport"], swiftSettings: strict),
    .testTarget(name: "JobModelTests", dependencies: ["JobModel"], swiftSettings: strict),
    .testTarget(
      name: "RemoteScriptsTests", dependencies: ["RemoteScripts", "TestSupport"],
      swiftSettings: strict),
    .testTarget(
      name: "SSHClientTests", dependencies: ["SSHClient", "CSSH2", "CHeap", "TestSupport"],
      exclude: ["asking_server.py"], swiftSettings: strict),
    .testTarget(
      name: "MatrixTests", dependencies: ["SSHClient", "CSSH2", "TestSupport"],
      swiftSettings: strict),
    .testTarget(
      name: "JobStoreTests", dependencies: ["JobStore", "JobModel", "TestSupport", "CSQLite"],
      swiftSettings: strict),
    .testTarget(
      name: "AgentsTests", dependencies: ["Agents", "TestSupport"], exclude: ["Fixtures"],
      swiftSettings: strict),
    .testTarget(
      name: "PocketKitTests", dependencies: ["PocketKit", "JobStore", "SSHClient", "TestSupport"],
      swiftSettings: strict),
    .testTarget(
      name: "PocketTests",
      dependencies: [
        "pocket", "PocketKit", "JobStore", "SSHClient", "JobModel", "CPosix", "TestSupport",
      ],
      swiftSettings: strict),
    // The built program against a real sshd.
    .testTarget(
      name: "EndToEndTests",
      dependencies: ["pocket", "PocketKit", "JobStore", "JobModel", "TestSupport"],
      swiftSettings: strict),
    // The built program, many jobs, and random faults in all that they need.
    .testTarget(
      name: "ChaosTests",
      dependencies: ["pocket", "JobStore", "JobModel", "TestSupport", "CSQLite"],
      swiftSettings: strict),
  ],
  swiftLanguageModes: [.v6]
)
