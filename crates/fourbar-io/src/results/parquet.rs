//! Tables as Parquet: one flat schema, units and meanings of the columns in the metadata of the file.
//!
//! The key `fourbar` contains the description of the columns as JSON, as in `schema.json` of a sweep; `PANDAS_ATTRS` contains the units by
//! name, which pandas puts into `attrs`. Missing numbers are null. Without the feature `parquet` every call is rejected.

use super::Table;
use fourbar::Diagnostic;
use serde_json::{Map, Value, json};

/// Key of the description of the columns.
pub const DESCRIPTION: &str = "fourbar";

/// The cells of a column.
#[derive(Clone, Debug, PartialEq)]
pub enum Cells {
    /// Whole numbers.
    Integers(Vec<i64>),
    /// Numbers; NaN becomes null.
    Numbers(Vec<f64>),
    /// Texts; an empty one is null.
    Texts(Vec<String>),
}

/// A column.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// Its cells.
    pub cells: Cells,
}

impl Column {
    /// A column of numbers.
    pub fn numbers(name: &str, cells: Vec<f64>) -> Self {
        Self { name: name.into(), cells: Cells::Numbers(cells) }
    }
}

/// An error if this program was built without Parquet.
pub fn available() -> Result<(), Diagnostic> {
    if cfg!(feature = "parquet") { Ok(()) } else { Err(refused("this program was built without Parquet".into())) }
}

/// Columns as a file. The description is an object with a list `columns` of objects with `name` and `unit`.
pub fn write(columns: &[Column], description: &Value) -> Result<Vec<u8>, Diagnostic> {
    let unit = |c: &Value| Some((c["name"].as_str()?.to_string(), c["unit"].clone()));
    let units: Map<String, Value> = description["columns"].as_array().into_iter().flatten().filter_map(unit).collect();
    let metadata = vec![(DESCRIPTION.to_string(), description.to_string()), ("PANDAS_ATTRS".into(), json!({ "units": units }).to_string())];
    file::write(columns, metadata).map_err(refused)
}

/// The columns of a file and its description.
pub fn read(bytes: Vec<u8>) -> Result<(Vec<Column>, Value), Diagnostic> {
    let (columns, metadata) = file::read(bytes).map_err(refused)?;
    let description = metadata.into_iter().find(|(k, _)| k == DESCRIPTION).map(|(_, text)| text).unwrap_or_default();
    Ok((columns, serde_json::from_str(&description).unwrap_or_default()))
}

/// A table of numbers, such as a trajectory, as a file; `facts` are also stored as metadata.
pub fn write_table(table: &Table, facts: Value) -> Result<Vec<u8>, Diagnostic> {
    let columns: Vec<Column> = table.names.iter().zip(&table.columns).map(|(n, c)| Column::numbers(n, c.clone())).collect();
    let mut description = facts;
    description["columns"] =
        table.names.iter().zip(&table.units).map(|(name, unit)| json!({"name": name, "type": "number", "unit": unit})).collect();
    write(&columns, &description)
}

fn refused(why: String) -> Diagnostic {
    let help = if cfg!(feature = "parquet") {
        "give a Parquet file that this program wrote"
    } else {
        "build it with `--features parquet`, use the Python package, or use the CSV file, which contains the same numbers"
    };
    Diagnostic::new("U440", why).help(help)
}

#[cfg(not(feature = "parquet"))]
mod file {
    use super::Column;

    const MISSING: &str = "this program was built without Parquet";

    pub fn write(_: &[Column], _: Vec<(String, String)>) -> Result<Vec<u8>, String> {
        Err(MISSING.into())
    }

    pub fn read(_: Vec<u8>) -> Result<(Vec<Column>, Vec<(String, String)>), String> {
        Err(MISSING.into())
    }
}

#[cfg(feature = "parquet")]
mod file {
    use super::{Cells, Column};
    use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
    use parquet::column::reader::ColumnReader;
    use parquet::column::writer::ColumnWriter;
    use parquet::data_type::ByteArray;
    use parquet::errors::ParquetError;
    use parquet::file::metadata::KeyValue;
    use parquet::file::properties::WriterProperties;
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::file::writer::SerializedFileWriter;
    use parquet::schema::types::{Type, TypePtr};
    use std::sync::Arc;

    /// Largest number of cells that is read.
    const MOST: i64 = 500_000_000;

    fn words(e: ParquetError) -> String {
        format!("the Parquet file cannot be read or written: {e}")
    }

    fn field(c: &Column) -> Result<TypePtr, ParquetError> {
        let (kind, repetition, logical) = match &c.cells {
            Cells::Integers(_) => (Physical::INT64, Repetition::REQUIRED, None),
            Cells::Numbers(_) => (Physical::DOUBLE, Repetition::OPTIONAL, None),
            Cells::Texts(_) => (Physical::BYTE_ARRAY, Repetition::OPTIONAL, Some(LogicalType::String)),
        };
        let t = Type::primitive_type_builder(&c.name, kind).with_repetition(repetition).with_logical_type(logical);
        t.build().map(Arc::new)
    }

    pub fn write(columns: &[Column], metadata: Vec<(String, String)>) -> Result<Vec<u8>, String> {
        written(columns, metadata).map_err(words)
    }

    fn written(columns: &[Column], metadata: Vec<(String, String)>) -> Result<Vec<u8>, ParquetError> {
        let fields = columns.iter().map(field).collect::<Result<Vec<_>, _>>()?;
        let schema = Arc::new(Type::group_type_builder("schema").with_fields(fields).build()?);
        let pairs = metadata.into_iter().map(|(k, v)| KeyValue::new(k, v)).collect();
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_created_by(format!("{}{}", crate::disk::PARQUET_MARK, env!("CARGO_PKG_VERSION")))
            .set_key_value_metadata(Some(pairs))
            .build();
        let mut out = Vec::new();
        let mut writer = SerializedFileWriter::new(&mut out, schema, Arc::new(properties))?;
        let mut group = writer.next_row_group()?;
        for c in columns {
            let Some(mut column) = group.next_column()? else { break };
            match (column.untyped(), &c.cells) {
                (ColumnWriter::Int64ColumnWriter(w), Cells::Integers(x)) => {
                    w.write_batch(x, None, None)?;
                }
                (ColumnWriter::DoubleColumnWriter(w), Cells::Numbers(x)) => {
                    let there: Vec<i16> = x.iter().map(|x| i16::from(!x.is_nan())).collect();
                    let values: Vec<f64> = x.iter().copied().filter(|x| !x.is_nan()).collect();
                    w.write_batch(&values, Some(&there), None)?;
                }
                (ColumnWriter::ByteArrayColumnWriter(w), Cells::Texts(x)) => {
                    let there: Vec<i16> = x.iter().map(|x| i16::from(!x.is_empty())).collect();
                    let values: Vec<ByteArray> = x.iter().filter(|x| !x.is_empty()).map(|x| ByteArray::from(x.as_str())).collect();
                    w.write_batch(&values, Some(&there), None)?;
                }
                _ => return Err(ParquetError::General("a column has another type than its schema".into())),
            }
            column.close()?;
        }
        group.close()?;
        writer.close()?;
        Ok(out)
    }

    type Read = (Vec<Column>, Vec<(String, String)>);

    pub fn read(bytes: Vec<u8>) -> Result<Read, String> {
        // The library panics for some damaged files.
        let read = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| columns_of(bytes)));
        read.unwrap_or_else(|_| Err(ParquetError::General("it is damaged".into()))).map_err(words)
    }

    fn columns_of(bytes: Vec<u8>) -> Result<Read, ParquetError> {
        let reader = SerializedFileReader::new(bytes::Bytes::from(bytes))?;
        let facts = reader.metadata().file_metadata();
        let pairs = facts.key_value_metadata().into_iter().flatten();
        let metadata = pairs.map(|p| (p.key.clone(), p.value.clone().unwrap_or_default())).collect();
        let schema = facts.schema_descr_ptr();
        if facts.num_rows().saturating_mul(schema.num_columns() as i64) > MOST {
            return Err(ParquetError::General(format!("it has more than {MOST} cells")));
        }
        let mut columns = Vec::new();
        for k in 0..schema.num_columns() {
            let described = schema.column(k);
            let optional = described.max_def_level();
            if described.max_rep_level() != 0 || optional > 1 {
                return Err(ParquetError::General(format!("the column `{}` is nested", described.name())));
            }
            let mut cells = match described.physical_type() {
                Physical::INT64 => Cells::Integers(Vec::new()),
                Physical::DOUBLE => Cells::Numbers(Vec::new()),
                Physical::BYTE_ARRAY => Cells::Texts(Vec::new()),
                other => return Err(ParquetError::General(format!("the column `{}` contains {other}", described.name()))),
            };
            for g in 0..reader.num_row_groups() {
                let group = reader.get_row_group(g)?;
                let rows = usize::try_from(group.metadata().num_rows()).unwrap_or(0);
                let mut there = Vec::new();
                let is_there = |there: &[i16]| if optional == 0 { vec![true; rows] } else { there.iter().map(|d| *d == 1).collect() };
                match (group.get_column_reader(k)?, &mut cells) {
                    (ColumnReader::Int64ColumnReader(mut r), Cells::Integers(list)) => {
                        let mut values = Vec::new();
                        r.read_records(rows, Some(&mut there), None, &mut values)?;
                        list.extend(spread(values, &is_there(&there), || 0));
                    }
                    (ColumnReader::DoubleColumnReader(mut r), Cells::Numbers(list)) => {
                        let mut values = Vec::new();
                        r.read_records(rows, Some(&mut there), None, &mut values)?;
                        list.extend(spread(values, &is_there(&there), || f64::NAN));
                    }
                    (ColumnReader::ByteArrayColumnReader(mut r), Cells::Texts(list)) => {
                        let mut values = Vec::new();
                        r.read_records(rows, Some(&mut there), None, &mut values)?;
                        let text = |b: ByteArray| String::from_utf8_lossy(b.data()).into_owned();
                        list.extend(spread(values.into_iter().map(text).collect(), &is_there(&there), String::new));
                    }
                    _ => return Err(ParquetError::General(format!("the column `{}` changes its type", described.name()))),
                }
            }
            columns.push(Column { name: described.name().to_string(), cells });
        }
        Ok((columns, metadata))
    }

    /// Values at the positions marked `there`; others are `missing`.
    fn spread<T>(values: Vec<T>, there: &[bool], missing: impl Fn() -> T) -> Vec<T> {
        let mut values = values.into_iter();
        there.iter().map(|there| if *there { values.next().unwrap_or_else(&missing) } else { missing() }).collect()
    }

    #[cfg(test)]
    mod tests {
        use super::*;
        use serde_json::json;

        #[test]
        fn columns_read_back_as_they_were() {
            let columns = [
                Column { name: "case".into(), cells: Cells::Integers(vec![3, -1, i64::MAX]) },
                Column::numbers("x", vec![1.0 / 3.0, f64::INFINITY, -0.0]),
                Column::numbers("y", vec![f64::NAN, 1e-300, f64::NAN]),
                Column { name: "text".into(), cells: Cells::Texts(vec!["a \"b\", ü".into(), String::new(), "c\n".into()]) },
            ];
            let description = json!({"columns": [{"name": "x", "unit": "N*m"}]});
            let bytes = super::super::write(&columns, &description).expect("written");
            assert_eq!(bytes, super::super::write(&columns, &description).expect("written"), "the same bytes");
            let (back, told) = super::super::read(bytes.clone()).expect("read");
            assert_eq!(told, description);
            // NaN is not equal to itself.
            assert_eq!(format!("{back:?}"), format!("{columns:?}"));
            for cut in [0, 3, bytes.len() / 2, bytes.len() - 1] {
                assert!(super::super::read(bytes[..cut].to_vec()).is_err_and(|d| d.code.0 == "U440"), "{cut}");
            }
        }

        #[test]
        fn damaged_files_are_refused_or_read_without_a_panic() {
            let bytes = super::super::write(&[Column::numbers("x", (0..500).map(f64::from).collect())], &json!({})).expect("written");
            for k in 0..bytes.len() {
                let mut damaged = bytes.clone();
                damaged[k] ^= 0x55;
                // Damage to a value or to the format must not panic.
                let _ = super::super::read(damaged);
            }
        }
    }
}
