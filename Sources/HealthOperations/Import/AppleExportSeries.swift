import Foundation
import HealthFormats
import HealthModel
import HealthStore

/// An import of all exports in a zip file or folder, the newest last, if they belong to one person.
struct AppleExportSeries {
  /// The exports, at least one.
  let exports: [AppleHealthExport]
  let name: String
  let store: HealthStore
  let policy: ImportPolicy
  let progress: any ProgressObserver

  func run() async throws -> ImportResult {
    if exports.count == 1 { return try await importer(exports[0], policy).run() }
    var surveyed: [(export: AppleHealthExport, survey: ExportSurvey)] = []
    for export in exports { surveyed.append((export, try await importer(export, policy).survey())) }
    try requireOnePerson(surveyed)
    surveyed.sort { ($0.survey.exportDate?.microseconds ?? .min) < ($1.survey.exportDate?.microseconds ?? .min) }
    var result = ImportResult()
    var (journal, owner): (Int64?, RecordOwner?)
    for (importer, admitted) in try await admitted(surveyed) {
      var (importer, admitted) = (importer, admitted)
      importer.journal = journal
      if let owner { admitted.admission.owner = owner }
      let one = try await importer.run(admitted)
      journal = one.journal ?? journal
      owner = one.owner ?? owner
      result.add(one, of: .init(place: place(of: importer.export), exported: admitted.survey.exportDate))
    }
    return result
  }

  /// Checks the persons of all exports, before any of them is written.
  private func admitted(
    _ surveyed: [(export: AppleHealthExport, survey: ExportSurvey)]
  ) async throws -> [(AppleExportImport, AppleExportImport.Admitted)] {
    let own = try await store.person()
    var confirmed: Set<Person> = []
    var result: [(AppleExportImport, AppleExportImport.Admitted)] = []
    for (index, (export, survey)) in surveyed.enumerated() {
      var policy = policy
      // Only the newest export can show what no longer exists.
      if index < surveyed.count - 1 { policy.options.isSnapshot = false }
      // A confirmation counts for all exports of the same person.
      if confirmed.contains(survey.person) { policy.options.mergesPersons = true }
      var importer = importer(export, policy)
      // An export that will not be read needs no confirmation.
      if !survey.person.contradictions(to: own).isEmpty, try await importer.earlier() != nil {
        importer.policy.options.mergesPersons = true
      }
      let admitted = try await importer.admit(survey)
      if admitted.wasConfirmed { confirmed.insert(survey.person) }
      result.append((importer, admitted))
    }
    return result
  }

  private func importer(_ export: AppleHealthExport, _ policy: ImportPolicy) -> AppleExportImport {
    AppleExportImport(export: export, name: name, store: store, policy: policy, progress: progress)
  }

  private func requireOnePerson(_ surveyed: [(export: AppleHealthExport, survey: ExportSurvey)]) throws {
    for (index, one) in surveyed.enumerated() {
      for other in surveyed[..<index] {
        guard let difference = one.survey.personDiffers(from: other.survey) else { continue }
        throw ImportRefusal.severalPersons(
          file: name, exports: surveyed.count, places: [place(of: other.export), place(of: one.export)],
          difference: difference)
      }
    }
  }

  /// Returns the last components of the export's path that distinguish it from the others.
  private func place(of export: AppleHealthExport) -> String {
    let parts = export.location.split(separator: "/")
    let others = exports.map { $0.location.split(separator: "/") }.filter { $0 != parts }
    var count = 2
    while count < parts.count, others.contains(where: { $0.suffix(count) == parts.suffix(count) }) { count += 1 }
    return parts.suffix(count).joined(separator: "/")
  }
}
