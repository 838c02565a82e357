//! Writes a table as Parquet: plain columns that may lack values, without compression, so that any tool reads them.

use std::sync::Arc;

use parquet::basic::{LogicalType, Repetition, Type as PhysicalType};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::Type;

/// The most rows of a row group.
const GROUP_ROWS: usize = 1 << 20;

/// A column with its values.
#[derive(Clone, PartialEq, Debug)]
pub struct ParquetColumn {
    pub name: String,
    pub values: ParquetValues,
}

/// The values of a column, one a row.
#[derive(Clone, PartialEq, Debug)]
pub enum ParquetValues {
    /// UTF-8.
    Texts(Vec<Option<String>>),
    /// INT64.
    Integers(Vec<Option<i64>>),
    /// DOUBLE.
    Reals(Vec<Option<f64>>),
    /// BOOLEAN.
    Flags(Vec<Option<bool>>),
}

impl ParquetValues {
    fn len(&self) -> usize {
        match self {
            Self::Texts(values) => values.len(),
            Self::Integers(values) => values.len(),
            Self::Reals(values) => values.len(),
            Self::Flags(values) => values.len(),
        }
    }
}

/// The bytes of a file with these columns, all of one length, and key-value metadata. Equal tables give equal bytes.
pub fn write_parquet(columns: &[ParquetColumn], metadata: &[(&str, &str)]) -> Result<Vec<u8>, ParquetError> {
    let fields = columns.iter().map(field).collect::<Result<Vec<_>, _>>()?;
    let schema = Arc::new(Type::group_type_builder("table").with_fields(fields).build()?);
    let pairs = metadata.iter().map(|(key, value)| KeyValue::new((*key).to_owned(), (*value).to_owned()));
    let properties = WriterProperties::builder()
        .set_created_by("fabdeck".to_owned())
        .set_key_value_metadata(Some(pairs.collect()));
    let mut bytes = Vec::new();
    let mut file = SerializedFileWriter::new(&mut bytes, schema, Arc::new(properties.build()))?;
    let rows = columns.iter().map(|column| column.values.len()).min().unwrap_or(0);
    for first in (0..rows).step_by(GROUP_ROWS) {
        let range = first..(first + GROUP_ROWS).min(rows);
        let mut group = file.next_row_group()?;
        for column in columns {
            let range = range.clone();
            match &column.values {
                ParquetValues::Texts(values) => {
                    let texts = values[range].iter().map(|text| text.as_deref().map(ByteArray::from));
                    write_column::<ByteArrayType>(&mut group, texts)?;
                }
                ParquetValues::Integers(values) => {
                    write_column::<Int64Type>(&mut group, values[range].iter().copied())?;
                }
                ParquetValues::Reals(values) => {
                    write_column::<DoubleType>(&mut group, values[range].iter().copied())?;
                }
                ParquetValues::Flags(values) => {
                    write_column::<BoolType>(&mut group, values[range].iter().copied())?;
                }
            }
        }
        group.close()?;
    }
    file.close()?;
    Ok(bytes)
}

fn field(column: &ParquetColumn) -> Result<Arc<Type>, ParquetError> {
    let (physical, logical) = match column.values {
        ParquetValues::Texts(_) => (PhysicalType::BYTE_ARRAY, Some(LogicalType::String)),
        ParquetValues::Integers(_) => (PhysicalType::INT64, None),
        ParquetValues::Reals(_) => (PhysicalType::DOUBLE, None),
        ParquetValues::Flags(_) => (PhysicalType::BOOLEAN, None),
    };
    let field = Type::primitive_type_builder(&column.name, physical);
    Ok(Arc::new(field.with_repetition(Repetition::OPTIONAL).with_logical_type(logical).build()?))
}

/// Writes the next column of a row group: whether each row has a value, and the values that there are.
fn write_column<T: DataType>(
    group: &mut SerializedRowGroupWriter<'_, &mut Vec<u8>>,
    rows: impl Iterator<Item = Option<T::T>>,
) -> Result<(), ParquetError> {
    let Some(mut column) = group.next_column()? else { return Ok(()) };
    let (mut levels, mut values) = (Vec::new(), Vec::new());
    for row in rows {
        levels.push(i16::from(row.is_some()));
        values.extend(row);
    }
    column.typed::<T>().write_batch(&values, Some(&levels), None)?;
    column.close()
}

#[cfg(test)]
mod tests {
    use super::*;
    use parquet::file::reader::{FileReader, SerializedFileReader};

    #[test]
    fn what_is_written_is_read_back_with_its_gaps() {
        let column = |name: &str, values| ParquetColumn { name: name.to_owned(), values };
        let columns = [
            column(
                "engine",
                ParquetValues::Texts(vec![Some("nue".to_owned()), None, Some("größe".to_owned())]),
            ),
            column("lanes", ParquetValues::Integers(vec![Some(1), Some(-2), None])),
            column("throughput", ParquetValues::Reals(vec![None, Some(0.1), Some(-1.24)])),
            column("cycle", ParquetValues::Flags(vec![Some(true), None, Some(false)])),
        ];
        let bytes = write_parquet(&columns, &[("schema", "fabdeck.study-table/1")]).unwrap();
        assert_eq!(bytes, write_parquet(&columns, &[("schema", "fabdeck.study-table/1")]).unwrap());
        let file = tempfile::tempfile().unwrap();
        std::io::Write::write_all(&mut &file, &bytes).unwrap();
        let reader = SerializedFileReader::new(file).unwrap();
        let rows: Vec<String> =
            reader.get_row_iter(None).unwrap().map(|row| row.unwrap().to_string()).collect();
        assert_eq!(rows[0], "{engine: \"nue\", lanes: 1, throughput: null, cycle: true}");
        assert_eq!(rows[1], "{engine: null, lanes: -2, throughput: 0.1, cycle: null}");
        assert_eq!(rows[2], "{engine: \"größe\", lanes: null, throughput: -1.24E0, cycle: false}");
        let metadata = reader.metadata().file_metadata().key_value_metadata().unwrap();
        assert_eq!(
            (&*metadata[0].key, metadata[0].value.as_deref()),
            ("schema", Some("fabdeck.study-table/1"))
        );
        assert!(write_parquet(&[column("empty", ParquetValues::Flags(Vec::new()))], &[]).is_ok());
    }
}
