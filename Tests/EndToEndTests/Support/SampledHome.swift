import Foundation
import HealthModel
import HealthStore
import TestSupport
import Testing

/// A home with 50 step counts, and helpers to run commands in it and to check their output.
struct SampledHome {
  let scratch: Scratch
  private let schema: JSONSchema
  var host: Host { scratch.host("home") }

  init() async throws {
    scratch = try Scratch()
    schema = try JSONSchema(directory: Build.root + "/docs/reference/schemas")
    var maker = SampleMaker(seed: 7)
    let store = try HealthStore(directory: host.home)
    try await store.apply(ChangeBatch(additions: (0..<50).map { maker.steps(at: $0) }))
  }

  @discardableResult
  func run(_ arguments: [String], status: Int32) async throws -> Outcome {
    let outcome = try await host.start(arguments).outcome()
    #expect(outcome.status == status, "\(arguments): \(outcome.errors)")
    return outcome
  }

  func expect(_ outcome: Outcome, is name: String, lines: Int) throws {
    let found = outcome.output.split(separator: "\n")
    #expect(found.count == lines, "\(outcome.output)")
    for line in found { #expect(try schema.violations(of: line, against: name) == [], "\(line)") }
  }

  /// Writes a program that only its owner can run.
  func script(_ path: String, _ text: String) throws {
    try Data(text.utf8).write(to: URL(filePath: path))
    try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: path)
  }
}
