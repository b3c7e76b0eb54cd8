import Foundation
import HealthFormats
import HealthModel
import HealthStore
import OperatingSystem

/// An import of one Apple Health export into the store, one transaction per batch. ``ImportPolicy`` decides what the
/// export may add and delete.
struct AppleExportImport: Sendable {
  private static let batchSize = 32_000

  let export: AppleHealthExport
  let name: String
  let store: HealthStore
  var policy: ImportPolicy
  let progress: any ProgressObserver
  /// The undo journal of the previous export, if several exports are imported and undone together.
  var journal: Int64?

  /// An export that was checked and may be imported.
  struct Admitted: Sendable {
    var survey: ExportSurvey
    var admission: ImportWriter.Admission
    var wasConfirmed: Bool
  }

  /// Imports the export.
  ///
  /// - Parameter admitted: the result of ``admit(_:)``, if it was checked before.
  func run(_ admitted: Admitted? = nil) async throws -> ImportResult {
    let export = export
    async let digest = onThread { isCancelled in try export.digest(isCancelled: isCancelled) }
    if try await mayBeKnown(), let earlier = try await earlier(digest: try await digest) {
      return ImportResult(earlier: earlier)
    }
    let known = if let admitted { admitted } else { try await admit(try await self.survey()) }
    var survey = known.survey
    survey.expectTwins(try await store.imports.twinKeys())
    let obstacle = try await policy.snapshotObstacle(survey)
    let identityNames = try await store.imports.identityNames(for: survey.sources)
    let file = ImportRecord.File(
      name: name, exported: survey.exportDate, person: survey.personKey,
      confirmed: known.wasConfirmed ? survey.person : nil)
    var (result, id) = try await onThread { [self, survey] isCancelled in
      let writer = try ImportWriter(store, file, continuing: journal, isCancelled: isCancelled)
      writer.admit(known.admission)
      var result = try read(survey, identityNames, into: writer, isCancelled)
      result.mergedPersons = known.wasConfirmed
      result.journal = writer.journal
      result.owner = writer.admission?.owner
      if obstacle == nil { result.snapshot = try deleteMissing(&result, writer) }
      return (result, writer.id)
    }
    if policy.options.isSnapshot, let obstacle { result.snapshot = obstacle }
    try await store.imports.finish(
      id, digest: try await digest, isComplete: result.report.isComplete, isSnapshot: result.snapshot == .done)
    await keepLocale(result.report.locale, of: survey)
    return result
  }

  /// Stores the locale of the newest export if it names a region; the locale in hpeer's own files does not.
  private func keepLocale(_ locale: String?, of survey: ExportSurvey) async {
    guard let locale, locale.utf8.count <= 40, locale.utf8.allSatisfy({ 0x21...0x7E ~= $0 }),
      locale.contains("_") || locale.contains("-") || locale.contains("@")
    else { return }
    // The import is finished, so an error here must not fail it.
    guard let newest = try? await store.imports.newestExport(), newest.exported == survey.exportDate else { return }
    try? await store.settings.keepExportLocale(locale)
  }

  /// Checks the export's person. Throws unless the person's data may be added to the store.
  func admit(_ survey: ExportSurvey) async throws -> Admitted {
    let (admission, wasConfirmed) = try await policy.admit(survey.person)
    return Admitted(survey: survey, admission: admission, wasConfirmed: wasConfirmed)
  }

  /// Returns the earlier import of identical bytes, which makes this import unnecessary.
  func earlier() async throws -> ImportRecord? {
    let export = export
    guard try await mayBeKnown() else { return nil }
    return try await earlier(digest: try await onThread { isCancelled in try export.digest(isCancelled: isCancelled) })
  }

  private func mayBeKnown() async throws -> Bool {
    if policy.options.rescans { return false }
    return try await store.imports.hasFinished()
  }

  private func earlier(digest: Data) async throws -> ImportRecord? {
    let earlier = try await store.imports.finished(digest: digest)
    // An older export that was imported after the snapshot may have brought back what the snapshot lacks.
    guard let earlier, !policy.options.isSnapshot || earlier.isSnapshot && earlier.isLatest else { return nil }
    return earlier
  }

  /// Reads the export once to check it.
  func survey() async throws -> ExportSurvey {
    let (export, checking) = (export, stage(.checking))
    return try await onThread { isCancelled in
      defer { checking.finish() }
      return try export.survey { bytes in
        if isCancelled() { throw CancellationError() }
        checking.update(items: 0, bytes: Int(bytes))
      }
    }
  }

  private func stage(_ work: ProgressStage.Work) -> any StageObserver {
    progress.begin(ProgressStage(work, totalBytes: Int(export.totalBytes)))
  }

  private func read(
    _ survey: ExportSurvey, _ identityNames: [String: String], into writer: ImportWriter,
    _ isCancelled: () -> Bool
  ) throws -> ImportResult {
    var result = ImportResult()
    var types: Set<SampleType> = []
    let stage = stage(.importing)
    defer { stage.finish() }
    writer.isWhole = survey.isComplete
    let progress: (Int64) throws -> Void = { bytes in
      if isCancelled() { throw CancellationError() }
      let total = writer.summary.total
      stage.update(items: total.added + total.unchanged + total.refused, bytes: Int(bytes - export.totalBytes))
    }
    result.report = try export.read(
      survey, identityNames: identityNames, batchSize: Self.batchSize, progress: progress
    ) { batch in
      if isCancelled() { throw CancellationError() }
      types.formUnion(batch.countsByType.keys)
      try ImportOperation.requireFewTypes(types.count)
      if !batch.changes.isEmpty || !batch.readings.isEmpty {
        try writer.write(batch.changes, readings: batch.readings, sideFiles: batch.sideFiles)
      }
      if !batch.groups.isEmpty { try writer.write(twins: batch.groups) }
    }
    result.summary = writer.summary
    // Members of correlations occur twice, and only the writer recognizes them.
    for type in types {
      let counts = result.summary.types[type] ?? .init()
      result.read[type] = counts.added + counts.unchanged
    }
    return result
  }

  /// Deletes samples that the export lacks, if a snapshot was requested.
  ///
  /// - Returns: the outcome of the snapshot; `nil` if none was requested.
  private func deleteMissing(_ result: inout ImportResult, _ writer: ImportWriter) throws -> SnapshotOutcome? {
    let types = Set(result.read.keys)
    result.missing = try writer.missing(of: types)
    guard policy.options.isSnapshot else { return nil }
    guard policy.mayDelete(result.missing) else { return .refused }
    try writer.deleteMissing(of: types)
    result.summary = writer.summary
    return .done
  }
}
