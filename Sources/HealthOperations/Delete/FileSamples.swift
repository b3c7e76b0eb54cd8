import Foundation
import HealthFormats
import HealthModel
import HealthStore
import OperatingSystem

/// The samples of an importable file, which can be read repeatedly.
struct FileSamples: Sendable {
  private static let batchSize = 32_000

  /// An Apple Health export that was checked; a zip file or folder may hold several.
  private struct Surveyed: Sendable {
    var export: AppleHealthExport
    var survey: ExportSurvey
    var identityNames: [String: String]
  }

  private let source: ImportFile
  private let progress: any ProgressObserver
  private let exports: [Surveyed]
  private let reading: ReadingOptions

  /// Whether the file is an Apple Health export.
  var isExport: Bool { !exports.isEmpty }

  /// Checks the file.
  ///
  /// - Parameter store: provides the names of sources and the known twins.
  init(_ source: ImportFile, for store: HealthStore, progress: any ProgressObserver) async throws {
    self.source = source
    self.progress = progress
    var surveyed: [Surveyed] = []
    if case .appleHealth(let exports) = source {
      for export in exports {
        var survey = try await Self.survey(export, progress)
        survey.expectTwins(try await store.imports.twinKeys())
        let names = try await store.imports.identityNames(for: survey.sources, remembers: false)
        surveyed.append(Surveyed(export: export, survey: survey, identityNames: names))
      }
    }
    exports = surveyed
    reading = try await ReadingOptions(in: store)
  }

  private static func survey(
    _ export: AppleHealthExport, _ progress: any ProgressObserver
  ) async throws -> ExportSurvey {
    try await onThread { isCancelled in
      let stage = progress.begin(ProgressStage(.checking, totalBytes: Int(export.totalBytes)))
      defer { stage.finish() }
      return try export.survey { bytes in
        if isCancelled() { throw CancellationError() }
        stage.update(items: 0, bytes: Int(bytes))
      }
    }
  }

  /// Passes all samples to `deliver`, including those whose values drift from export to export. Blocking.
  ///
  /// - Parameter work: the kind of work to report as progress.
  func forEach(
    _ work: ProgressStage.Work, isCancelled: @escaping () -> Bool,
    deliver: @escaping (_ changes: CodedChanges, _ twins: [TwinGroup]) throws -> Void
  ) throws {
    switch source {
    case .appleHealth:
      for one in exports { try forEach(of: one, work, isCancelled, deliver) }
    case .samples(let file): try forEach(of: file, work, isCancelled, deliver)
    }
  }

  private func forEach(
    of one: Surveyed, _ work: ProgressStage.Work, _ isCancelled: () -> Bool,
    _ deliver: (CodedChanges, [TwinGroup]) throws -> Void
  ) throws {
    let stage = stage(work, bytes: one.export.totalBytes)
    defer { stage.finish() }
    _ = try one.export.read(
      one.survey, identityNames: one.identityNames, batchSize: Self.batchSize,
      progress: { bytes in
        if isCancelled() { throw CancellationError() }
        stage.update(items: 0, bytes: Int(bytes - one.export.totalBytes))
      }, deliver: { try Self.deliver($0.changes, $0.groups, $0.readings, to: deliver) })
  }

  private static func deliver(
    _ changes: CodedChanges, _ twins: [TwinGroup], _ readings: [Sample],
    to deliver: (_ changes: CodedChanges, _ twins: [TwinGroup]) throws -> Void
  ) throws {
    try deliver(changes, twins)
    if readings.isEmpty { return }
    var coder = ChangeCoder()
    for sample in readings { try coder.add(sample) }
    try deliver(coder.changes, [])
  }

  private func forEach(
    of file: any RecordFormat, _ work: ProgressStage.Work, _ isCancelled: @escaping () -> Bool,
    _ deliver: @escaping (_ changes: CodedChanges, _ twins: [TwinGroup]) throws -> Void
  ) throws {
    let stage = stage(work, bytes: file.workBytes)
    defer { stage.finish() }
    let progress = { (bytes: Int64) in
      if isCancelled() { throw CancellationError() }
      stage.update(items: 0, bytes: Int(bytes))
    }
    _ = try file.read(reading, progress: progress) { try Self.deliver($0.changes, [], $0.readings, to: deliver) }
  }

  private func stage(_ work: ProgressStage.Work, bytes: Int64) -> any StageObserver {
    progress.begin(ProgressStage(work, totalBytes: Int(bytes)))
  }
}
