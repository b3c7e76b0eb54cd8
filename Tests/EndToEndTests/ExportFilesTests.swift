import BenchData
import Foundation
import Testing

/// Tests of the files that `hpeer export` writes: compressed files, several files, a zip file.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct ExportFilesTests {
  private let scratch: Scratch

  init() throws { scratch = try Scratch() }

  private var home: Host { scratch.host("home") }

  private func fill(records: Int = 2_000) async throws {
    let zip = scratch.path + "/made.zip"
    _ = try MadeExport(records: records).write(to: zip)
    let imported = try await home.run("import", zip)
    #expect(imported.status == 0, "\(imported.errors)")
  }

  private func names(_ folder: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: scratch.path + "/" + folder).sorted()
  }

  @Test("a zip file like the Health app's has the digest of the record that it is of")
  func archive() async throws {
    try await fill()
    let path = scratch.path + "/export.zip"
    let exported = try await home.run("export", "--format", "apple-xml", "--output", path)
    #expect(exported.status == 0, "\(exported.errors)")
    #expect(!exported.errors.contains("Not exported"), "\(exported.errors)")
    let other = scratch.host("other")
    let imported = try await other.run("import", path)
    #expect(imported.status == 0, "\(imported.errors)")
    #expect(try await other.deepDigest() == home.deepDigest())
    let listed = try await home.sh("unzip -Z1 '\(path)' | sed 's|[^/]*$||' | sort -u")
    if listed.status == 0, !listed.output.isEmpty {
      let folders = ["", "clinical-records/", "electrocardiograms/", "workout-routes/"].map {
        "apple_health_export/" + $0
      }
      #expect(listed.output == folders.joined(separator: "\n") + "\n")
    }
  }

  @Test("the suffix compresses, and import reads it", arguments: ["json.gz", "csv.zst", "ndjson.zst"])
  func compressed(suffix: String) async throws {
    try await fill()
    let path = "\(scratch.path)/export.\(suffix)"
    let format = String(suffix.prefix { $0 != "." })
    let exported = try await home.run("export", "--format", format, "--output", path)
    #expect(exported.status == 0, "\(exported.errors)")
    let other = scratch.host("other")
    #expect(try await other.run("import", path).status == 0)
    #expect(try await other.deepDigest() == home.deepDigest())
    // By standard input, too.
    let piped = try await home.sh("'\(Build.hpeer)' --home '\(scratch.path)/third' import - < '\(path)'")
    #expect(piped.status == 0, "\(piped.errors)")
    // A file that ends early is refused as a whole.
    let whole = try Data(contentsOf: URL(fileURLWithPath: path))
    try whole.prefix(whole.count / 2).write(to: URL(fileURLWithPath: path))
    let cut = try await scratch.host("fourth").run("import", path)
    #expect(cut.status == 65)
    #expect(cut.errors.contains("ends in the middle"), "\(cut.errors)")
  }

  @Test("files by type, month and workout, in a folder that appears when all are whole")
  func divided() async throws {
    try await fill()
    for (options, suffix) in [
      (["--format", "csv", "--split", "type", "--compress", "gz"], ".csv.gz"),
      (["--split", "month", "--zone", "America/New_York"], ".json"),
      (["--format", "gpx", "--split", "workout"], ".gpx"), (["--format", "ics", "--split", "workout"], ".ics"),
    ] {
      let outcome = try await home.start(["export", "--output", scratch.path + "/out/"] + options).outcome()
      #expect(outcome.status == 0, "\(outcome.errors)")
      let names = try names("out")
      #expect(!names.isEmpty)
      #expect(names.allSatisfy { $0.hasSuffix(suffix) && !$0.hasPrefix(".") }, "\(names)")
      #expect(outcome.errors.contains("to \(names.count) file"), "\(outcome.errors)")
      let again = try await home.start(["export", "--output", scratch.path + "/out"] + options).outcome()
      #expect(again.status == 2)
      #expect(again.errors.contains("--force"), "\(again.errors)")
      #expect(try self.names("out") == names)
      try FileManager.default.removeItem(atPath: scratch.path + "/out")
    }
    for wrong in [
      ["--split", "type"], ["--split", "workout", "--output", "x"], ["--compress", "zst", "--output", "x.gz"],
      ["--format", "csv", "--output", "x.zip"], ["--split", "year", "--output", "x"],
    ] { #expect(try await home.start(["export"] + wrong).outcome().status == 2, "\(wrong)") }
  }

  @Test(
    "interrupted: nothing is left of any file",
    .enabled(if: FaultyWrites.obstacle == nil, "no C compiler: \(FaultyWrites.obstacle ?? "")"))
  func interrupted() async throws {
    try await home.hold(.medium)
    let export = try await HeldCommand(
      ["export", "--split", "type", "--output", scratch.path + "/out"], on: home, at: .writes, under: scratch.path
    ) {
      try FileManager.default.contentsOfDirectory(atPath: scratch.path).contains { $0.hasSuffix(".partial") }
    }
    try export.release(with: SIGTERM)
    let outcome = try await export.command.outcome()
    #expect(outcome.status == 130, "\(outcome.errors)")
    #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.path) == ["home"])
  }

  /// A script that runs a program and prints its peak resident memory. The extra process is needed because a
  /// process's peak starts with its parent's memory.
  private static let script = """
    import resource, subprocess, sys
    result = subprocess.run(sys.argv[1:], stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    print(result.returncode, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
    """

  @Test("memory does not grow with the record")
  func memory() async throws {
    try await fill(records: 150_000)
    for arguments in [
      ["--format", "json", "--output", "a.json.zst"], ["--format", "csv", "--output", "a.csv.gz"],
      ["--format", "ndjson", "--output", "a.ndjson"], ["--format", "apple-xml", "--output", "a.zip"],
      ["--format", "hat-json-v2", "--output", "a.hat"], ["--format", "csv", "--split", "month", "--output", "months"],
      ["--format", "gpx", "--split", "workout", "--output", "tracks"],
    ] {
      let paths = arguments.dropLast() + ["\(scratch.path)/\(arguments.last ?? "")"]
      let outcome = try await RunningCommand(
        ["env", "HPEER_HOME=\(home.home)", "python3", "-c", Self.script, Build.hpeer, "export"] + paths
      ).outcome()
      let numbers = outcome.output.split(whereSeparator: \.isWhitespace).compactMap { Int($0) }
      try #require(numbers.count == 2, "\(outcome)")
      #expect(numbers[0] == 0)
      #expect(numbers[1] < 96 << 10, "\(arguments): \(numbers[1]) KiB")
    }
  }
}
