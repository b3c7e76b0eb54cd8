import ExternalStores
import Foundation

/// The destination of HealthPush's guide, with exactly the guide's members, file names and columns.
struct CSVExportDestination: SyncDestination {
  let id: UUID
  var name: String
  var isEnabled: Bool
  var exportDirectory: URL

  init(id: UUID = UUID(), name: String = "CSV Export", isEnabled: Bool = true, exportDirectory: URL) {
    self.id = id
    self.name = name
    self.isEnabled = isEnabled
    self.exportDirectory = exportDirectory
  }

  func sync(data: [HealthDataPoint]) async throws {
    let dates = ISO8601DateFormatter()
    var text = "metric,value,unit,timestamp\n"
    for point in data {
      text += "\(point.metricType.rawValue),\(point.value),\(point.unit),\(dates.string(from: point.timestamp))\n"
    }
    let file = exportDirectory.appendingPathComponent("healthpush-\(dates.string(from: Date())).csv")
    try text.write(to: file, atomically: true, encoding: .utf8)
  }

  func testConnection() async throws -> Bool {
    let probe = exportDirectory.appendingPathComponent(".healthpush-test")
    do {
      try "test".write(to: probe, atomically: true, encoding: .utf8)
      try FileManager.default.removeItem(at: probe)
      return true
    } catch {
      return false
    }
  }
}
